// Package kubernetes checks the manifests of examples/kubernetes.
package kubernetes
