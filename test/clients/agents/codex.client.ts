/** Codex, headless: only its address, its key and its model are set. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MODEL, MODELS, startAgentsGateway, type AgentsGateway } from './agents-gateway.ts'
import { canRun, runClient, runShown } from './run-client.ts'

const CODEX = join(import.meta.dirname, 'node_modules/.bin/codex')

let agents: AgentsGateway

before(async () => {
  agents = await startAgentsGateway()
})

after(() => agents.stop())

/** Codex has a sandbox of its own for commands, which needs rights that a build machine may not give. */
const OPTIONS = ['exec', '--json', '--skip-git-repo-check', '-s', 'danger-full-access']

for (const [format, model] of Object.entries(MODELS))
  test(`Codex does a task with two tools and a streamed answer over an upstream of ${format}, and its calls are charged by the upstream’s count`, async (t) => {
    if (!canRun(CODEX)) return t.skip('Codex does not run on this machine')
    const home = await mkdtemp(join(tmpdir(), 'codex-home-'))
    const folder = await mkdtemp(join(tmpdir(), 'codex-'))
    await writeFile(join(home, 'config.toml'), configOf(agents.gateway.node.baseUrl, model))
    const task = [
      'Faça esta tarefa:',
      `chame exec_command ${JSON.stringify({ cmd: 'echo catraca > nota.txt' })}`,
      `chame exec_command ${JSON.stringify({ cmd: 'tr a-z A-Z < nota.txt' })}`,
    ].join('\n')
    const { code, stdout, stderr } = await runClient(
      CODEX,
      [...OPTIONS, task],
      { CODEX_HOME: home, CATRACA_API_KEY: agents.gateway.secret },
      folder,
    )
    assert.equal(code, 0, stdout.slice(-2_000) + stderr)
    const items = stdout
      .trim()
      .split('\n')
      .map((line): any => JSON.parse(line))
      .filter(({ type }) => type === 'item.completed')
      .map(({ item }) => item)
    assert.deepEqual(
      items.filter(({ type }) => type === 'command_execution').map(({ exit_code: exit }) => exit),
      [0, 0],
    )
    assert.equal(await readFile(join(folder, 'nota.txt'), 'utf8'), 'catraca\n')
    const { text } = items.findLast(({ type }) => type === 'agent_message')
    assert.match(text, /A ferramenta exec_command devolveu:.*CATRACA/)
    await agents.assertCharges(3)
  })

for (const [format, model] of Object.entries(MODELS))
  test(`Codex as “OpenAI” calls over a WebSocket, and goes on from a compaction, over an upstream of ${format}, which is charged as a call`, async (t) => {
    if (!canRun(CODEX)) return t.skip('Codex does not run on this machine')
    const home = await mkdtemp(join(tmpdir(), 'codex-home-'))
    const folder = await mkdtemp(join(tmpdir(), 'codex-'))
    const config = `${configOf(agents.gateway.node.baseUrl, model, 'OpenAI')}supports_websockets = true\n`
    const before = agents.sandbox.counts.completed
    const call = `chame exec_command ${JSON.stringify({ cmd: 'seq 1 20000' })}`
    // The first turn ends above the limit of the second one, which a summary of it is far below.
    for (const [settings, args] of [
      ['', [...OPTIONS, `Faça esta tarefa:\n${call}`]],
      ['model_auto_compact_token_limit = 11500\n', [...OPTIONS, 'resume', '--last', 'Olá!']],
    ] as const) {
      await writeFile(join(home, 'config.toml'), settings + config)
      const { code, stdout, stderr } = await runClient(
        CODEX,
        [...args],
        { CODEX_HOME: home, CATRACA_API_KEY: agents.gateway.secret, RUST_LOG: 'info' },
        folder,
      )
      assert.equal(code, 0, stdout.slice(-2_000) + stderr)
      assert.match(stdout, /"type":"agent_message"/)
      assert.match(stderr, /websocket/i)
      assert.doesNotMatch(stderr, /failed to connect to websocket|fall(?:ing)? ?back to http/i)
    }
    const written = await readRecords(join(home, 'sessions'))
    assert.match(written, /"type":"compaction"[^{}]*"encrypted_content":"[\w-]{50}/)
    assert.ok(agents.sandbox.counts.completed - before >= 3, 'two turns and a compaction')
    await agents.assertCharges(3)
  })

test('the command that the dashboard shows starts Codex with this server, without a file', async (t) => {
  if (!canRun(CODEX)) return t.skip('Codex does not run on this machine')
  const { origin, gateway } = agents
  const use = { origin, secret: gateway.secret, model: MODEL }
  const { code, stdout, stderr } = await runShown('codex', use, 'codex', CODEX, [
    ...OPTIONS,
    'Olá!',
  ])
  assert.equal(code, 0, stdout.slice(-2_000) + stderr)
  assert.match(stdout, /"type":"agent_message"/)
  await agents.assertCharges(1)
})

/** What Codex keeps of its sessions. */
async function readRecords(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true })
  const files = names.filter((name) => name.endsWith('.jsonl'))
  return (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('')
}

/** Codex compacts at a provider of the name “OpenAI” by the API, and at any other by a prompt of its own. */
function configOf(baseUrl: string, model: string, name = 'Catraca'): string {
  return `model = "${model}"
model_provider = "catraca"

[model_providers.catraca]
name = "${name}"
base_url = "${baseUrl}"
env_key = "CATRACA_API_KEY"
wire_api = "responses"
`
}
