// Renders the chart as Helm does, by the template engine that Helm is built on. The chart uses none of the functions that Helm adds to
// it, so that nothing else is needed.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

func main() {
	var values map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&values); err != nil {
		fail(err)
	}
	for _, file := range os.Args[1:] {
		parsed, err := template.New(filepath.Base(file)).Option("missingkey=error").ParseFiles(file)
		if err != nil {
			fail(err)
		}
		var rendered bytes.Buffer
		if err := parsed.Execute(&rendered, values); err != nil {
			fail(err)
		}
		if text := strings.TrimSpace(rendered.String()); text != "" {
			fmt.Printf("---\n%s\n", text)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
