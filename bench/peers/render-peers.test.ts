import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { PeersResults, Turns } from './peer.ts'
import { docsPath, renderPeers, replaceSection } from './render-peers.ts'

const latencies = { p50: 1, p95: 2, p99: 3, p999: 4, max: 5 }

function turnsOf(target: string, requestsPerSecond: number, catracaBy: string): Turns {
  return {
    target,
    mode: 'plain',
    connections: 64,
    requestsPerSecond,
    spread: 0,
    latencyMs: latencies,
    firstByteMs: latencies,
    gatewayBytesMax: 1,
    databaseBytes: null,
    gatewayCpuUs: 900,
    databaseCpuUs: null,
    failures: 0,
    rates: [requestsPerSecond],
    catracaBy,
  }
}

const peerOf = (name: string, checks: string, bills: string) => ({
  name,
  checks,
  bills,
  version: '1',
  coldStartMs: 1000,
  memoryBytes: 2e6,
  databaseBytes: null,
})

const results: PeersResults = {
  at: '2026-01-02T03:04:05.000Z',
  isQuick: false,
  minutes: 1,
  machine: {
    processors: 'two',
    memoryBytes: 1,
    platform: 'linux',
    node: 'v24',
    commit: 'abc',
    fdatasyncMs: 1,
  },
  cpus: { target: '1', client: '0' },
  peers: [peerOf('relay', 'nothing', 'nothing'), peerOf('catraca', 'key', 'on the disk')],
  unavailable: { other: 'it is not installed' },
  throughput: [turnsOf('relay', 9000, '0.444 (0.401 to 0.512)'), turnsOf('catraca', 4000, '1.000')],
  prompts: [],
  paced: [],
  blocking: [],
  wrongKeys: [],
  failOver: [],
  kills: [],
  faults: [],
}

test('the comparison says which gateway is faster, and what it leaves out', () => {
  const text = renderPeers(results)
  assert.match(
    text,
    /Faster than Catraca at 64 connections: relay \(checks nothing\); none of them/,
  )
  assert.match(text, /\| relay 1 \| 9,000 \| 0\.44 \(0\.40–0\.51\) \|/)
  // 900 µs a call are a quarter of an hour for a million.
  assert.match(text, /\| 900 \| 0\.0100 \|/)
  assert.match(text, /Not measured: other \(it is not installed\)\./)
})

test('the comparison in the docs is that of the results file', () => {
  const docs = readFileSync(docsPath, 'utf8')
  const file = join(import.meta.dirname, '../results/peers.json')
  const section = existsSync(file)
    ? renderPeers(JSON.parse(readFileSync(file, 'utf8')) as PeersResults)
    : 'Not measured yet.'
  assert.equal(docs, replaceSection(docs, section))
})
