// deep: the rules and dashboards of the monitoring against a server
/** The alert rules and dashboards name metrics that a real server has, and each alert has its entry in the runbook. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ALARM_EVENTS } from '../../src/app/create-metrics.ts'
import { BY_OPERATOR, ask } from '../harness/ask.ts'
import { startGatewayProcess } from '../harness/gateway-process.ts'

const root = join(import.meta.dirname, '../..')
const prometheus = join(root, 'deploy/prometheus')
const rules = await readFile(join(prometheus, 'alerts.yml'), 'utf8')

interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly panels: readonly { readonly id: number; readonly targets: readonly { expr: string }[] }[]
}

const dashboards: Dashboard[] = []
for await (const file of glob('deploy/grafana/dashboards/*.json', { cwd: root }))
  dashboards.push(JSON.parse(await readFile(join(root, file), 'utf8')) as Dashboard)

const exprs = [
  ...[...rules.matchAll(/expr: >-\n\s+(.+)\n/g)].map(([, expr = '']) => expr),
  ...dashboards.flatMap(({ panels }) =>
    panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ),
]

/** A metric of this program or of its platform; a histogram by its own name. */
const METRIC = /\b(?:catraca|nodejs|process)_[a-z0-9_]+\b/g

test('every metric that an alert rule or a dashboard names is one of a real server with workers', async () => {
  const gateway = await startGatewayProcess({ WORKERS: '2' })
  try {
    const { text } = await ask(gateway.node.baseUrl.replace('/v1', ''), '/metrics', BY_OPERATOR)
    const known = new Set<string>()
    for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      known.add(name)
      if (type === 'histogram')
        for (const part of ['bucket', 'sum', 'count']) known.add(`${name}_${part}`)
    }
    const named = new Set(exprs.flatMap((expr) => expr.match(METRIC) ?? []))
    assert.ok(named.size > 40)
    assert.deepEqual(
      [...named].filter((name) => !known.has(name)),
      [],
    )
  } finally {
    await gateway.stop()
  }
})

test('an event that a rule asks for is counted from zero, and something logs it', async () => {
  const asked = [...rules.matchAll(/level="(\w+)",event="(\w+)"/g)].map(
    ([, level, event]) => `${level} ${event}`,
  )
  const counted = Object.entries(ALARM_EVENTS).flatMap(([level, events]) =>
    events.map((event) => `${level} ${event}`),
  )
  assert.deepEqual([...new Set(asked)].toSorted(), counted.toSorted())
  let source = ''
  for await (const file of glob('src/**/*.ts', { cwd: root }))
    if (!file.endsWith('alarm-events.ts')) source += await readFile(join(root, file), 'utf8')
  const logged = (line: string): boolean => {
    const [level, event] = line.split(' ')
    return new RegExp(`log\\s*\\.${level}\\(\\s*'${event}'`).test(source)
  }
  assert.deepEqual(
    counted.filter((line) => !logged(line)),
    [],
  )
})

test('every alert has a severity, a summary and its own entry in the runbook, and no entry is left over', async () => {
  const runbook = await readFile(join(root, 'docs/runbook.md'), 'utf8')
  const entries = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  const alerts = rules.split(/^ {6}- alert: /m).slice(1)
  assert.deepEqual(
    alerts.map((alert) => alert.split('\n')[0]),
    entries,
  )
  for (const alert of alerts) {
    const name = alert.split('\n')[0] ?? ''
    assert.match(alert, /severity: (page|ticket)\n/, name)
    assert.match(alert, /summary: >-\n\s+\S/, name)
    assert.match(alert, new RegExp(`runbook: docs/runbook.md#${name.toLowerCase()}$`, 'm'), name)
  }
})

test('each dashboard has its own address, and each of its panels a place and a query', () => {
  assert.deepEqual(dashboards.map(({ uid }) => uid).toSorted(), [
    'catraca-money',
    'catraca-queues',
    'catraca-service',
    'catraca-upstreams',
  ])
  for (const { title, panels } of dashboards) {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, title)
    for (const { targets } of panels) assert.ok(targets.length > 0, title)
  }
})

test('each alert is tested at its threshold and beyond it', async () => {
  const [, atThreshold = '', beyond = ''] = (
    await readFile(join(prometheus, 'tests/thresholds.test.yml'), 'utf8')
  ).split('alert_rule_test:')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  for (const tested of [atThreshold, beyond])
    assert.deepEqual(
      [...tested.matchAll(/alertname: (\w+)/g)].map(([, name]) => name),
      alerts,
    )
  assert.equal(beyond.includes('exp_alerts: []'), false)
})

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test(
  'promtool takes the rules, and they raise what their tests say',
  { skip: !hasPromtool() },
  () => {
    execFileSync('promtool', ['check', 'rules', 'alerts.yml'], { cwd: prometheus })
    execFileSync('promtool', ['check', 'config', '--syntax-only', 'prometheus.yml'], {
      cwd: prometheus,
    })
    for (const file of ['alerts', 'thresholds'])
      execFileSync('promtool', ['test', 'rules', `tests/${file}.test.yml`], { cwd: prometheus })
  },
)

test("the chart's monitor names the job that the rules ask for, and its rules are these", async () => {
  const chart = join(root, 'deploy/helm/catraca')
  const monitor = await readFile(join(chart, 'templates/servicemonitor.yaml'), 'utf8')
  const jobs = new Set([...rules.matchAll(/job="(\w+)"/g)].map(([, job]) => job))
  assert.equal(jobs.size, 1)
  assert.match(monitor, new RegExp(`targetLabel: job, replacement: ${[...jobs].join()} `))
  assert.equal(await readFile(join(chart, 'alerts.yml'), 'utf8'), rules)
})
