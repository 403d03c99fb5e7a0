package results

import (
	"strconv"
	"time"
)

func whole[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func ns(d time.Duration) string { return whole(int64(d)) }

// instant returns an empty cell if the event never happened.
func instant(t time.Duration) string {
	if t < 0 {
		return ""
	}
	return ns(t)
}
