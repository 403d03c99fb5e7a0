package yarn

type fairApp struct{}
