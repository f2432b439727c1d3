/**
 * Which provider computes each node of a session. onnxruntime-node does not give ONNX Runtime's own account of it
 * (`session.record_ep_graph_assignment_info` records it, but no call reads it), so one run is profiled: the profile names
 * the provider of every kernel that ran. Counted are the nodes that are left after ONNX Runtime's graph optimisation.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodePlacement } from '../shared/results.ts';

const cpu = 'CPUExecutionProvider';
const copies = new Set(['MemcpyToHost', 'MemcpyFromHost']);

interface ProfileEvent {
  cat?: string;
  name?: string;
  args?: { provider?: string; op_name?: string; node_index?: string };
}

/**
 * Reads a profile of one run or more: a node that ran several times (in a loop, or in several runs) counts once.
 * @throws SyntaxError where the text is not a whole profile
 */
export function readPlacement(json: string, graph: NodePlacement['graph']): NodePlacement {
  const nodes = new Map<string, { provider: string; operator: string }>();
  for (const { cat, name, args } of JSON.parse(json) as ProfileEvent[]) {
    if (cat !== 'Node' || !name?.endsWith('_kernel_time') || !args?.provider) continue;
    // The index counts anew in every sub-graph; the name tells them apart.
    nodes.set(`${args.node_index} ${name}`, { provider: args.provider, operator: args.op_name ?? '' });
  }
  const placement: NodePlacement = { graph, nodes: 0, cpuNodes: 0, cpuOperators: {}, copies: 0 };
  const operators = new Map<string, number>();
  for (const { provider, operator } of nodes.values()) {
    // Not nodes of the graph: ONNX Runtime puts them between providers.
    if (copies.has(operator)) {
      placement.copies++;
      continue;
    }
    placement.nodes++;
    if (provider !== cpu) continue;
    placement.cpuNodes++;
    operators.set(operator, (operators.get(operator) ?? 0) + 1);
  }
  placement.cpuOperators = Object.fromEntries([...operators].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
  return placement;
}

/** A place for the profile of one session. */
export class Profile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'softbench-profile-'));

  /** Session options that turn profiling on from the session's beginning. */
  get options(): { enableProfiling: true; profileFilePrefix: string } {
    return { enableProfiling: true, profileFilePrefix: join(this.#folder, 'profile') };
  }

  /** Reads what `session.endProfiling()` has written, and removes it; null where it cannot be read. */
  read(graph: NodePlacement['graph']): NodePlacement | null {
    try {
      const [file] = readdirSync(this.#folder);
      return file ? readPlacement(readFileSync(join(this.#folder, file), 'utf8'), graph) : null;
    } catch {
      return null;
    } finally {
      this.remove();
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
