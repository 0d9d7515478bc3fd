"""`perdure bridge`: gRPC on loopback in front, Connect over HTTPS behind. It forwards bytes as they are."""
