package kubernetes

import (
	"os"
	"regexp"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const folder = "../../../examples/kubernetes/"

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// read gives the documents of a manifest, each as what it says it is; a field
// that Kubernetes does not know is an error.
func read(t *testing.T, name string) (all []any) {
	t.Helper()
	for part := range strings.SplitSeq(text(t, folder+name), "\n---\n") {
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(part), &kind); err != nil {
			t.Fatal(err)
		}
		var object any
		switch kind.APIVersion + " " + kind.Kind {
		case "apps/v1 Deployment":
			object = new(apps.Deployment)
		case "apps/v1 StatefulSet":
			object = new(apps.StatefulSet)
		case "v1 Service":
			object = new(core.Service)
		default:
			t.Fatalf("%s: unknown kind %+v", name, kind)
		}
		if err := yaml.UnmarshalStrict([]byte(part), object); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		all = append(all, object)
	}
	return all
}

func TestManifests(t *testing.T) {
	source := text(t, folder+"main.go") + text(t, folder+"routes.go")
	pods := map[string]core.PodTemplateSpec{}
	for _, name := range []string{"deployment.yaml", "statefulset.yaml"} {
		for _, object := range read(t, name) {
			switch o := object.(type) {
			case *apps.Deployment:
				pods[name] = o.Spec.Template
				labelled(t, name, o.Spec.Selector.MatchLabels, o.Spec.Template.Labels)
			case *apps.StatefulSet:
				pods[name] = o.Spec.Template
				labelled(t, name, o.Spec.Selector.MatchLabels, o.Spec.Template.Labels)
			case *core.Service:
				labelled(t, name, o.Spec.Selector, map[string]string{"app.kubernetes.io/name": "ids"})
			}
		}
	}
	if len(pods) != 2 {
		t.Fatalf("%d of 2 manifests have pods", len(pods))
	}
	reads := regexp.MustCompile(`"([A-Z]+_[A-Z]+)"`).FindAllStringSubmatch(source, -1)
	for name, pod := range pods {
		c := pod.Spec.Containers[0]
		given := map[string]bool{}
		for _, v := range c.Env {
			given[v.Name] = true
			if !strings.Contains(source, `"`+v.Name+`"`) {
				t.Errorf("%s: the service does not read %s", name, v.Name)
			}
		}
		for _, v := range reads {
			// A Deployment has no ordinal.
			if want := v[1] != "POD_INDEX" || name == "statefulset.yaml"; given[v[1]] != want {
				t.Errorf("%s: %s is given: %v", name, v[1], given[v[1]])
			}
		}
		for what, probe := range map[string]*core.Probe{"readyz": c.ReadinessProbe, "livez": c.LivenessProbe} {
			if probe == nil || probe.HTTPGet == nil || !strings.Contains(source, `"GET `+probe.HTTPGet.Path+`"`) || probe.HTTPGet.Path != "/"+what {
				t.Errorf("%s: the probe of %s asks for something else: %+v", name, what, probe)
			}
		}
		// main.go: 20 seconds for requests, and the lease's 5.
		if grace := pod.Spec.TerminationGracePeriodSeconds; grace == nil || *grace <= 25 {
			t.Errorf("%s: the pod is killed before it has given its number back", name)
		}
	}
}

// The blocks of YAML in docs/workers.md are cut out of the manifests.
func TestTheDocumentShowsTheManifests(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// Not cleaned, so that go test sees its changes.
	page := text(t, here+"/../../../docs/workers.md")
	manifests := text(t, folder+"deployment.yaml") + text(t, folder+"statefulset.yaml")
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("no block of YAML found")
	}
	for _, block := range blocks {
		if !strings.Contains(manifests, block[1]) {
			t.Errorf("this block is in no manifest:\n%s", block[1])
		}
	}
}

func labelled(t *testing.T, name string, selector, labels map[string]string) {
	t.Helper()
	if len(selector) == 0 {
		t.Errorf("%s: an empty selector", name)
	}
	for key, value := range selector {
		if labels[key] != value {
			t.Errorf("%s: %s=%s selects no pod of %v", name, key, value, labels)
		}
	}
}
