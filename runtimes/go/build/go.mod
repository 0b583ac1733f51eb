module sless/build

go 1.21
