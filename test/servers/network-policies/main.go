// Enforces NetworkPolicies of a cluster whose only node is this machine and whose network does not enforce them.
//
// The verdicts are those of sigs.k8s.io/kube-network-policies. It hands packets to itself with nftables' own "queue",
// which not every kernel has; iptables' NFQUEUE does the same everywhere. Needs root and the program iptables. Ends
// with SIGTERM or SIGINT, or with its standard input, and takes its rules away.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

const (
	chain = "SLESS-TEST-POLICIES"
	queue = 4097
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file of the cluster's kubeconfig")
	node := flag.String("node", "", "name of this machine's node")
	pods := flag.String("pods", "", "network of its pods, 10.244.0.0/24")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// Whoever started it may be killed: its end of the pipe closes then.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := run(ctx, *kubeconfig, *node, *pods); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, node, pods string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	core := factory.Core().V1()
	// It asks its link to the container runtime for addresses that it does not know, and fails where it has none: so it
	// gets one, though there may be no runtime at its other end.
	settings := networkpolicy.Config{NodeName: node, QueueID: queue, NFTableName: "sless-test-policies"}
	controller, err := networkpolicy.NewController(client, factory.Networking().V1().NetworkPolicies(), core.Namespaces(),
		core.Pods(), core.Nodes(), nil, nil, nil, settings)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	removeRules()
	if err := addRules(pods); err != nil {
		removeRules()
		return err
	}
	defer removeRules()
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()
	fmt.Println("enforcing")
	err = <-ended
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Every way of a packet from or to a pod: to another pod or the outside, and to this machine. What the machine itself
// sends is never kept from its pods. Should this program be killed, nothing is kept from anybody.
func addRules(pods string) error {
	verdict := []string{"-j", "NFQUEUE", "--queue-num", strconv.Itoa(queue), "--queue-bypass"}
	return all([][]string{
		{"-N", chain},
		{"-A", chain, "-m", "conntrack", "--ctstate", "ESTABLISHED,RELATED", "-j", "RETURN"},
		{"-A", chain, "-m", "addrtype", "--src-type", "LOCAL", "-j", "RETURN"},
		append([]string{"-A", chain, "-s", pods}, verdict...),
		append([]string{"-A", chain, "-d", pods}, verdict...),
		{"-I", "POSTROUTING", "-j", chain},
		{"-I", "INPUT", "-j", chain},
	})
}

func removeRules() {
	for _, hook := range []string{"POSTROUTING", "INPUT"} {
		for iptables("-D", hook, "-j", chain) == nil {
		}
	}
	_ = iptables("-F", chain)
	_ = iptables("-X", chain)
}

func all(commands [][]string) error {
	for _, command := range commands {
		if err := iptables(command...); err != nil {
			return err
		}
	}
	return nil
}

func iptables(arguments ...string) error {
	output, err := exec.Command("iptables", append([]string{"-w", "-t", "mangle"}, arguments...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("iptables %s: %s", strings.Join(arguments, " "), strings.TrimSpace(string(output)))
	}
	return nil
}
