/**
 * `npm run bench:peers`: Catraca beside the gateways that one would take in its place, in one run: direct, nginx, HAProxy,
 * Portkey, Bifrost, LiteLLM. Each has one processor with its database; the load and the upstream have the other.
 *
 * peers.ts is the list, scenarios.ts and kill.ts the loads. A whole run is written to results/peers.json, and from there
 * into docs/benchmarks.md. The exit code is 1 if Catraca failed a call, or if its books differ from the clients' count.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../describe-machine.ts'
import { pidsOf } from '../measure-target.ts'
import { openBenchRun } from '../open-bench-run.ts'
import { readDatabaseBytes, readProcessUsage } from '../process-usage.ts'
import { report } from '../report.ts'
import { killEach } from './kill.ts'
import { openPeers, type PeersBench } from './open-peers.ts'
import type { PeerResult, PeersResults } from './peer.ts'
import { peers } from './peers.ts'
import { QUICK, STANDARD } from './plan.ts'
import { docsPath, renderPeers, replaceSection } from './render-peers.ts'
import {
  measureBlocking,
  measureFailOver,
  measurePrompts,
  measureStreams,
  measureThroughput,
  measureWrongKeys,
  warmUp,
} from './scenarios.ts'

const SCENARIOS = [
  'throughput',
  'prompts',
  'streams',
  'blocking',
  'wrong-keys',
  'fail-over',
  'kill',
] as const

const { values } = parseArgs({
  options: {
    /** Every scenario, for a moment: figures not to believe, and nothing is written to the docs. */
    quick: { type: 'boolean', default: false },
    targets: { type: 'string', default: peers.map(({ name }) => name).join(',') },
    only: { type: 'string', default: SCENARIOS.join(',') },
    'target-cpus': { type: 'string', default: '1' },
    'client-cpus': { type: 'string', default: '0' },
    /** Writes the docs from the last whole run, and measures nothing. */
    render: { type: 'boolean', default: false },
  },
})
const resultsFolder = join(import.meta.dirname, '../results')
const resultsPath = join(resultsFolder, 'peers.json')

if (values.render) {
  writeDocs(JSON.parse(readFileSync(resultsPath, 'utf8')) as PeersResults)
  process.exit(0)
}

const startedAt = performance.now()
const plan = values.quick ? QUICK : STANDARD
const wanted = values.only.split(',')
const chosen = peers.filter(({ name }) => values.targets.split(',').includes(name))
const isWhole =
  !values.quick && wanted.length === SCENARIOS.length && chosen.length === peers.length
const cpus = { target: values['target-cpus'], client: values['client-cpus'] }

const run = await openBenchRun('peers', cpus.client)
const machine = describeMachine(run.folder)
const bench = await openPeers(run, chosen, cpus)
const results = await runScenarios(bench)
await run.processes.stopAll()
mkdirSync(resultsFolder, { recursive: true })
const path = isWhole ? resultsPath : join(resultsFolder, 'peers-part.json')
writeFileSync(path, `${JSON.stringify(results, null, 1)}\n`)
if (isWhole) writeDocs(results)
process.stdout.write(`${renderPeers(results)}\n`)
report(path)
process.exit(isOursSound(results) ? 0 : 1)

async function runScenarios(peersBench: PeersBench): Promise<PeersResults> {
  const at = new Date().toISOString()
  const when = <Rows>(name: (typeof SCENARIOS)[number], measure: () => Promise<Rows[]>) =>
    wanted.includes(name) ? measure() : Promise.resolve([])
  await warmUp(peersBench, plan)
  const throughput = await when('throughput', () => measureThroughput(peersBench, plan))
  const prompts = await when('prompts', async () => [...(await measurePrompts(peersBench, plan))])
  const paced = await when('streams', async () => [...(await measureStreams(peersBench, plan))])
  const blocking = await when('blocking', async () => [...(await measureBlocking(peersBench))])
  const wrongKeys = await when('wrong-keys', async () => [...(await measureWrongKeys(peersBench))])
  const failOver = await when('fail-over', async () => [...(await measureFailOver(peersBench))])
  const described = describePeers(peersBench)
  const kills = await when('kill', () => killEach(peersBench, plan))
  return {
    at,
    isQuick: !isWhole,
    minutes: Math.round((performance.now() - startedAt) / 6000) / 10,
    machine,
    cpus,
    peers: described,
    unavailable: peersBench.unavailable,
    throughput,
    prompts,
    paced,
    blocking,
    wrongKeys,
    failOver,
    kills,
    faults: peersBench.faults,
  }
}

function describePeers({ peers: all }: PeersBench): PeerResult[] {
  return all.map((peer) => ({
    name: peer.name,
    checks: peer.plan.checks,
    bills: peer.plan.bills,
    version: peer.version,
    coldStartMs: peer.coldStartMs,
    memoryBytes: readProcessUsage(...pidsOf(peer))?.gatewayBytes ?? null,
    databaseBytes: readDatabaseBytes(...pidsOf(peer)) || null,
  }))
}

function writeDocs(all: PeersResults): void {
  writeFileSync(docsPath, replaceSection(readFileSync(docsPath, 'utf8'), renderPeers(all)))
}

/** The failures and the books of the others are results; Catraca's end the run with 1. */
function isOursSound({ faults, kills, unavailable }: PeersResults): boolean {
  const kill = kills.find(({ target }) => target === 'catraca')
  const isBooked =
    !kill ||
    (kill.before.delivered === kill.before.charged &&
      kill.free + kill.chargedTwice === 0 &&
      kill.isSound === true)
  const failed = faults.some((fault) => fault.startsWith('catraca'))
  return isBooked && !failed && !('catraca' in unavailable)
}
