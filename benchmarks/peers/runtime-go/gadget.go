// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "bench.evenkeel.dev", Version: "v1"}

type GadgetSpec struct {
	Size   int64             `json:"size"`
	Color  string            `json:"color,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	SentAt int64             `json:"sentAt,omitempty"`
}

type GadgetStatus struct {
	Observed int64  `json:"observed,omitempty"`
	Phase    string `json:"phase,omitempty"`
}

type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GadgetSpec   `json:"spec,omitempty"`
	Status            GadgetStatus `json:"status,omitempty"`
}

type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Gadget `json:"items"`
}

// What controller-gen writes.
func (in *Gadget) DeepCopyInto(out *Gadget) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Labels = maps.Clone(in.Spec.Labels)
}

func (in *Gadget) DeepCopy() *Gadget {
	out := new(Gadget)
	in.DeepCopyInto(out)
	return out
}

func (in *Gadget) DeepCopyObject() runtime.Object { return in.DeepCopy() }

func (in *GadgetList) DeepCopyObject() runtime.Object {
	out := &GadgetList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Gadget, len(in.Items))
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}

func addGadgets(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion, &Gadget{}, &GadgetList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}
