/** opencode, headless, with its OpenAI adapter: only its address, its key and its model are set. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MODELS, startAgentsGateway, type AgentsGateway } from './agents-gateway.ts'
import { canRun, runClient } from './run-client.ts'

const PACKAGE = `opencode-${process.platform}-${process.arch}`
const OPENCODE = join(import.meta.dirname, 'node_modules', PACKAGE, 'bin/opencode')

let agents: AgentsGateway

before(async () => {
  agents = await startAgentsGateway()
})

after(() => agents.stop())

for (const [format, model] of Object.entries(MODELS))
  test(`opencode does a task with two tools and a streamed answer over an upstream of ${format}, and its calls are charged by the upstream’s count`, async (t) => {
    if (!canRun(OPENCODE)) return t.skip(`${PACKAGE} does not run on this machine`)
    const folder = await mkdtemp(join(tmpdir(), 'opencode-'))
    const file = join(folder, 'nota.txt')
    await writeFile(join(folder, 'opencode.json'), JSON.stringify(config(model)))
    const task = [
      'Faça esta tarefa:',
      `chame write ${JSON.stringify({ filePath: file, content: 'catraca\n' })}`,
      `chame bash ${JSON.stringify({ command: `tr a-z A-Z < ${file}`, description: 'Mostra a nota' })}`,
    ].join('\n')
    const { code, stdout, stderr } = await runClient(
      OPENCODE,
      // An argument with spaces would be quoted within the prompt.
      ['run', '--model', `catraca/${model}`, ...task.split(' ')],
      { CATRACA_API_KEY: agents.gateway.secret, OPENCODE_DISABLE_AUTOUPDATE: '1' },
      folder,
    )
    assert.equal(code, 0, stdout.slice(-2_000) + stderr)
    assert.equal(await readFile(file, 'utf8'), 'catraca\n')
    assert.match(stdout, /A ferramenta bash devolveu: “CATRACA”/)
    await agents.assertCharges(3)
  })

function config(model: string): object {
  return {
    $schema: 'https://opencode.ai/config.json',
    provider: {
      catraca: {
        npm: '@ai-sdk/openai',
        name: 'Catraca',
        options: { baseURL: agents.gateway.node.baseUrl, apiKey: '{env:CATRACA_API_KEY}' },
        models: { [model]: { name: model, limit: { context: 200_000, output: 32_000 } } },
      },
    },
    small_model: `catraca/${model}`,
    permission: { edit: 'allow', bash: 'allow' },
    autoupdate: false,
  }
}
