module example.com/checksum

go 1.23

require github.com/cespare/xxhash/v2 v2.3.0
