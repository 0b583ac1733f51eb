package checksum

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// Sums are the checksums of a body.
type Sums struct {
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
	XXH64  string `json:"xxh64"`
}

// Handle sums up the bytes of the body, whatever they are.
func Handle(ctx context.Context, event []byte) (any, error) {
	sha := sha256.Sum256(event)
	return Sums{
		Bytes:  len(event),
		SHA256: hex.EncodeToString(sha[:]),
		XXH64:  fmt.Sprintf("%016x", xxhash.Sum64(event)),
	}, nil
}
