// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

const variants = 64

// As kube-apiserver sends the object of `kubectl apply`.
const object = `{"apiVersion":"bench.evenkeel.dev/v1","kind":"Shop","metadata":{"name":"shop-%[1]d","namespace":"team-%[1]d",` +
	`"uid":"3c1a9f2e-0000-4000-8000-%012[1]d","creationTimestamp":"2026-01-02T03:04:05Z","generation":1,` +
	`"labels":{"app.kubernetes.io/name":"shop-%[1]d","app.kubernetes.io/part-of":"bench","team":"team-%[1]d"},` +
	`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"bench.evenkeel.dev/v1\",\"kind\":\"Shop\"}\n"},` +
	`"managedFields":[{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"bench.evenkeel.dev/v1",` +
	`"time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},` +
	`"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:labels":{".":{},"f:app.kubernetes.io/name":{},` +
	`"f:app.kubernetes.io/part-of":{},"f:team":{}}},"f:spec":{".":{},"f:environment":{".":{},"f:CURRENCY":{},"f:LANGUAGE":{},` +
	`"f:REGION":{}},"f:image":{},"f:ports":{}}}}]},"spec":{"environment":{"CURRENCY":"EUR","LANGUAGE":"de","REGION":"region-%[1]d"},` +
	`"image":"%[2]s","ports":[{"name":"http","port":8080},{"name":"https","port":8443,"protocol":"TCP"},{"name":"metrics","port":9090}]}}`

const review = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"%[1]s","kind":{"group":"bench.evenkeel.dev",` +
	`"version":"v1","kind":"Shop"},"resource":{"group":"bench.evenkeel.dev","version":"v1","resource":"shops"},` +
	`"requestKind":{"group":"bench.evenkeel.dev","version":"v1","kind":"Shop"},"requestResource":{"group":"bench.evenkeel.dev",` +
	`"version":"v1","resource":"shops"},"name":"shop-%[2]d","namespace":"team-%[2]d","operation":"%[3]s","userInfo":{"username":"ada",` +
	`"uid":"b7","groups":["developers","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["X509SHA256=7f"]}},` +
	`"object":%[4]s,"oldObject":%[5]s,"dryRun":false,"options":{"kind":"%[6]s","apiVersion":"meta.k8s.io/v1",` +
	`"fieldManager":"kubectl-client-side-apply","fieldValidation":"Strict"}}}`

// question is a review, and what its answer has to be.
type question struct {
	body     []byte
	uid      string
	original []byte
	complete any    // the object with its defaults; nil: the answer has no patch
	warning  string // "" is none
	denied   string // the field that is named; "" if it is allowed
}

func write(at int, operation, options, object, old string) ([]byte, string) {
	uid := fmt.Sprintf("a1b2c3d4-0000-4000-8000-%012d", at)
	return fmt.Appendf(nil, review, uid, at, operation, object, old, options), uid
}

// Shops without defaults, which are created.
func toComplete() []question {
	var all []question
	for at := range variants {
		shop := fmt.Sprintf(object, at, "shop:1.2")
		var complete map[string]any
		fail(json.Unmarshal([]byte(shop), &complete))
		complete["metadata"].(map[string]any)["annotations"].(map[string]any)["bench.evenkeel.dev/author"] = "ada"
		spec := complete["spec"].(map[string]any)
		spec["replicas"], spec["pullPolicy"] = float64(2), "IfNotPresent"
		for _, port := range spec["ports"].([]any) {
			port.(map[string]any)["protocol"] = "TCP"
		}
		body, uid := write(at, "CREATE", "CreateOptions", shop, "null")
		all = append(all, question{body: body, uid: uid, original: []byte(shop), complete: complete})
	}
	return all
}

// Updates of the image, which are allowed with a warning.
func toValidate() []question {
	var all []question
	for at := range variants {
		body, uid := write(at, "UPDATE", "UpdateOptions", fmt.Sprintf(object, at, "shop:1.3"), fmt.Sprintf(object, at, "shop:1.2"))
		all = append(all, question{body: body, uid: uid, warning: "all pods restart"})
	}
	return all
}

// A creation that is denied.
func toDeny() question {
	body, uid := write(variants, "CREATE", "CreateOptions", fmt.Sprintf(object, variants, ""), "null")
	return question{body: body, uid: uid, denied: "spec.image"}
}

type answer struct {
	Kind     string `json:"kind"`
	Response struct {
		UID       string   `json:"uid"`
		Allowed   bool     `json:"allowed"`
		Patch     []byte   `json:"patch"`
		PatchType string   `json:"patchType"`
		Warnings  []string `json:"warnings"`
		Status    struct {
			Code    int `json:"code"`
			Details struct {
				Causes []struct {
					Field string `json:"field"`
				} `json:"causes"`
			} `json:"details"`
		} `json:"status"`
	} `json:"response"`
}

// problem returns "" if it is the right answer.
func (q question) problem(body []byte) string {
	var got answer
	if err := json.Unmarshal(body, &got); err != nil {
		return err.Error()
	}
	response := got.Response
	if got.Kind != "AdmissionReview" || response.UID != q.uid || response.Allowed != (q.denied == "") {
		return "not the answer to it"
	}
	if warned := strings.Join(response.Warnings, ", "); warned != q.warning {
		return "its warnings are " + warned
	}
	if q.denied != "" {
		causes := response.Status.Details.Causes
		if response.Status.Code != 422 || len(causes) != 1 || causes[0].Field != q.denied {
			return "not denied because of " + q.denied
		}
	}
	if q.complete == nil {
		return ""
	}
	return q.patchProblem(response.PatchType, response.Patch)
}

func (q question) patchProblem(patchType string, bytes []byte) string {
	if patchType != "JSONPatch" {
		return "its patch has the type " + patchType
	}
	patch, err := jsonpatch.DecodePatch(bytes)
	if err != nil {
		return err.Error()
	}
	patched, err := patch.Apply(q.original)
	if err != nil {
		return err.Error()
	}
	var object any
	if err := json.Unmarshal(patched, &object); err != nil {
		return err.Error()
	}
	if !reflect.DeepEqual(object, q.complete) {
		return "it makes " + string(patched)
	}
	return ""
}
