# The command snowkey of a published version, and nothing else but certificates:
#
#   docker build --build-arg VERSION=v0.1.0 -t snowkey - <Dockerfile
#   docker run -p 8080:8080 snowkey serve --addr :8080
FROM golang:1 AS build
ARG VERSION=latest
RUN CGO_ENABLED=0 GOBIN=/out go install -trimpath -ldflags='-s -w' github.com/seed-299c1d6b/snowkey/cmd/snowkey@${VERSION}

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/snowkey /snowkey
USER 65534:65534
EXPOSE 8080
ENTRYPOINT ["/snowkey"]
