package results_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/workload"
)

// What is written is read back.
func TestOfferTable(t *testing.T) {
	offers := []model.Offer{
		{
			Time: 3 * time.Second, Node: "n,1", Free: [2]int{2, 1}, Waiting: [2]int{3, 1},
			Reason: [2]model.Reason{model.LocalityWait, model.OneTaskPerHeartbeat},
			Asked: []model.Asked{
				{Job: "a \"b\"", Kind: workload.Map, Task: -1, Reason: model.LocalityWait, Figures: model.Figures{Pool: "p", Running: 4, Demand: 9, Waited: time.Second, Delay: 2 * time.Second}},
				{Job: "c", Kind: workload.Map, Task: 12, Attempt: 1, Locality: workload.RackLocal, Figures: model.Figures{MinShare: 2, Share: 2.5, Deficit: -time.Minute, Skipped: 7, Limit: 8}},
			},
		},
		{Time: 3 * time.Second, Node: "n2", Repeats: 2, Free: [2]int{1, 0}, Waiting: [2]int{1, 0}, Reason: [2]model.Reason{model.LoadFactor, 0}},
	}
	var b bytes.Buffer
	table := results.NewOfferTable(&b)
	for i := range offers {
		o := offers[i]
		for o.Repeats = 0; ; o.Time++ {
			table.Offer(&o)
			if int(o.Time-offers[i].Time) == offers[i].Repeats {
				break
			}
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	var read []model.Offer
	keep := func(o *model.Offer) {
		c := *o
		c.Asked = append([]model.Asked(nil), o.Asked...)
		read = append(read, c)
	}
	if err := results.ReadOffers(strings.NewReader(text), "offers.csv", keep); err != nil {
		t.Fatal(err)
	}
	offers[0].Free[1], offers[0].Waiting[1] = 1, 1
	if !reflect.DeepEqual(read, offers) {
		t.Errorf("read %+v\nwant %+v\nfrom %s", read, offers, text)
	}
	for bad, want := range map[string]string{
		"a,b\n": "offers.csv:1: got columns",
		strings.Replace(text, "locality wait,\"a", "locality,\"a", 1): "offers.csv:2: stayed_free: got \"locality\": want a name that slotwave writes",
		strings.Replace(text, ",12,1,", ",x,1,", 1):                   "offers.csv:3: task: got \"x\": want a whole number",
	} {
		if err := results.ReadOffers(strings.NewReader(bad), "offers.csv", keep); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
