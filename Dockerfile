# docker build --build-arg VERSION=1.2.0 -t slotwave .
# docker run --rm -v "$PWD:/data" slotwave run two-jobs
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN go run ./cmd/slotwave play two-jobs --quiet --out /tmp/play.html && cp /root/.cache/slotwave/engine-*.js study/play/engine.js
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags slotwave_engine -ldflags "-s -w -X main.version=$VERSION" -o /slotwave ./cmd/slotwave

FROM scratch
COPY --from=build /slotwave /slotwave
COPY LICENSE /LICENSE
WORKDIR /data
ENTRYPOINT ["/slotwave"]
