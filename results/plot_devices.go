package results

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
)

// deviceUsage yields the use of devices, reading by reading.
func deviceUsage(devices []model.DeviceUse, yield func(Usage) bool) {
	if len(devices) == 0 {
		return
	}
	for i := range devices[0].Uses {
		for k := range devices {
			d := &devices[k]
			if !yield(Usage{Time: d.Times[i], Node: d.Node, Device: d.Device, Use: d.Uses[i]}) {
				return
			}
		}
	}
}

// deviceStyles are the lines of the devices of the whole cluster.
var deviceStyles = map[string]draw.LineStyle{
	"cpu":     {Color: figure.ColourMaps, Width: 1},
	"disk":    {Color: figure.Tinted(0xc4651f, 0xf08a4b), Width: 1},
	"network": {Color: figure.ColourReduces, Width: 1, Dashes: []vg.Length{3, 1.5}},
}

// devicePanel draws the use of all processors, disks and links over time. It
// returns nil if none were simulated.
func (r *Run) devicePanel(unit figure.TimeUnit, height vg.Length) *figure.Panel {
	devices := r.clusterDevices()
	if len(devices) == 0 {
		return nil
	}
	p := figure.NewPanel(height, "devices busy (%)")
	p.Y.Min, p.Y.Max = 0, 100
	p.Y.Tick.Marker = plot.ConstantTicks(figure.Ticks(100, 4, []float64{25}))
	for _, d := range devices {
		p.Add(useLine(&d, unit))
	}
	return p
}

func (r *Run) clusterDevices() []model.DeviceUse {
	var devices []model.DeviceUse
	if len(r.Predictions) == 0 {
		return nil
	}
	for _, d := range r.Predictions[0].Devices {
		if d.Node == allNodes {
			devices = append(devices, d)
		}
	}
	return devices
}

// deviceLegend names the lines of the devices.
func deviceLegend(runs []*Run) []figure.LegendEntry {
	var legend []figure.LegendEntry
	for _, r := range runs {
		for _, d := range r.clusterDevices() {
			legend = append(legend, figure.LegendEntry{Label: d.Device + " in use", Sample: figure.Stroked(deviceStyles[d.Device])})
		}
		if legend != nil {
			break
		}
	}
	return legend
}

// useLine draws a device as a line of means over spans that the eye can just
// distinguish.
func useLine(u *model.DeviceUse, unit figure.TimeUnit) figure.Drawing {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		const spans = 200
		width := u.Times[len(u.Times)-1] / spans
		var line []vg.Point
		for i := 0; i < len(u.Uses); {
			from, sum := u.Times[i], 0.0
			for ; i < len(u.Uses) && (u.Times[i+1]-from <= width || u.Times[i] == from); i++ {
				sum += u.Uses[i].Busy * float64(u.Times[i+1]-u.Times[i])
			}
			if to := u.Times[i]; to > from {
				level := y(100 * sum / float64(to-from))
				line = append(line, vg.Point{X: x(unit.Of(int64(from))), Y: level}, vg.Point{X: x(unit.Of(int64(to))), Y: level})
			}
		}
		c.StrokeLines(deviceStyles[u.Device], line)
	}
}
