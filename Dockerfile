# The server, redraft serve, for a machine that runs containers. It holds no toolchain: take FROM this image and add those that
# your checks need. The jail wants user namespaces or Landlock; redraft doctor inside of the container says what there is.
#
#   docker build -t redraft .
#   docker run --init -p 127.0.0.1:8797:8797 -v /etc/redraft:/etc/redraft:ro -v redraft:/var/lib/redraft redraft
FROM golang:1.26.8-trixie AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags='-s -w' -o /out/redraft ./cmd/redraft

FROM debian:13.8-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap=0.* ca-certificates=20* git=1:2.47.* \
    && rm -rf /var/lib/apt/lists/* \
    && install -d -o 65532 -g 65532 -m 0700 /var/lib/redraft
COPY --from=build /out/redraft /usr/local/bin/redraft
ENV HOME=/var/lib/redraft XDG_STATE_HOME=/var/lib REDRAFT_CONFIG=/etc/redraft/config.yml
USER 65532:65532
WORKDIR /var/lib/redraft
VOLUME ["/var/lib/redraft"]
EXPOSE 8797
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8797 && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["redraft"]
CMD ["serve", "--listen", "0.0.0.0:8797"]
