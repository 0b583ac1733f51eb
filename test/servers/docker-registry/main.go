// Registry 2.8 with the parts that tests use. Its own program needs a module that is not to be had any more.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/docker/distribution/configuration"
	"github.com/docker/distribution/context"
	_ "github.com/docker/distribution/registry/auth/htpasswd"
	_ "github.com/docker/distribution/registry/auth/token"
	"github.com/docker/distribution/registry/handlers"
	_ "github.com/docker/distribution/registry/storage/driver/filesystem"
)

// docker-registry serve <config.yml>
func main() {
	file, err := os.Open(os.Args[len(os.Args)-1])
	if err != nil {
		log.Fatal(err)
	}
	config, err := configuration.Parse(file)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(config.HTTP.Addr, handlers.NewApp(context.Background(), config)))
}
