package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is the JSON of the version.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified"`
	Core     string `json:"library,omitempty"` // version of the library
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Long:    "Print the version, its revision, and the version of Go.",
		Example: "  snowkey version\n  snowkey version --json",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    a.action(func(*cobra.Command, []string) error { return a.version() }),
	}
	a.jsonFlag(cmd, "one object")
	return cmd
}

func (a *app) version() error {
	info := describeBuild(a.Build())
	if a.json {
		return a.object(info)
	}
	fmt.Fprintf(a.out, "snowkey %s\n", info.Version)
	for _, line := range [][2]string{{"revision", info.Revision}, {"date", info.Time}, {"library", info.Core}, {"go", info.Go}, {"platform", info.Platform}} {
		if line[1] == "" {
			continue
		}
		text := line[1]
		if line[0] == "revision" && info.Modified {
			text += ", with uncommitted changes"
		}
		fmt.Fprintf(a.out, "  %s %s\n", a.style.faint(fmt.Sprintf("%-8s", line[0])), text)
	}
	return nil
}

func describeBuild(build *debug.BuildInfo, ok bool) versionInfo {
	info := versionInfo{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		return info
	}
	if build.GoVersion != "" {
		info.Go = build.GoVersion
	}
	if build.Main.Version != "" {
		info.Version = build.Main.Version
	}
	for _, dep := range build.Deps {
		if dep.Path == "github.com/seed-299c1d6b/snowkey" && dep.Replace == nil {
			info.Core = dep.Version
		}
	}
	settings := map[string]string{"GOOS": runtime.GOOS, "GOARCH": runtime.GOARCH}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	info.Revision, info.Time, info.Modified = settings["vcs.revision"], settings["vcs.time"], settings["vcs.modified"] == "true"
	info.Platform = settings["GOOS"] + "/" + settings["GOARCH"]
	return info
}
