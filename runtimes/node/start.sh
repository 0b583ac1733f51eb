# Starts the server with a heap that fits into the memory of the replica:
#
#   start.sh <node> <server.mjs>
#
# The limits must stand on the command line, and the memory is known only at the start. Beside the old space there are
# the young generation (three semi-spaces), Node itself (about 30 MiB) and buffers: without room for them garbage that
# nobody collected yet would be taken for use.
memory=${SLESS_MEMORY_MB:-128}
old=$((memory * 7 / 8))
[ "$old" -le $((memory - 48)) ] || old=$((memory - 48))
[ "$old" -ge $((memory / 2)) ] || old=$((memory / 2))
young=$((memory / 32))
[ "$young" -le 16 ] || young=16
exec "$1" --max-old-space-size="$old" --max-semi-space-size="$young" "$2"
