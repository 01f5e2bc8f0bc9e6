/** The shell blocks of README.md, word by word, against a started sandbox: a newcomer's first five minutes. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { ask, BY_OPERATOR } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const ROOT = join(import.meta.dirname, '../..')
const PLAYED_ADDRESS = 'http://127.0.0.1:8080'
const PLAYED_KEY = 'sk-svc-…'
const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text)
const gateway = await startGateway()
after(() => gateway.stop())
const origin = new URL(gateway.node.baseUrl).origin

test('README installs, starts and tests with npm alone, and CI runs that very test command', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  assert.equal(blocks.length, 3, 'a new shell block of README needs a test here')
  assert.equal(blocks[0], 'npm ci && npm start\n')
  assert.equal(blocks[2], 'npm ci && npm test\n')
  const ci = await readFile(join(ROOT, '.ci/run'), 'utf8')
  assert.match(ci, /^npm ci && npm test(?: |$)/m)
  assert.equal(ci.match(/npm ci/g)?.length, 1)
  assert.match(scripts.start, / src\/main\.ts$/)
})

test("README's first request is answered, and the balance is less by exactly the cost it shows", async () => {
  const { secret } = gateway
  const [, block = ''] = blocks
  assert.ok(block.includes(PLAYED_ADDRESS) && block.includes(PLAYED_KEY), block)
  const script = block.replaceAll(PLAYED_ADDRESS, origin).replaceAll(PLAYED_KEY, secret)
  const balance = async (): Promise<number> =>
    (await ask(gateway.node.baseUrl, '/usage', { secret })).json.balance.balance_brl
  const before = await balance()
  const { stdout } = await promisify(execFile)('sh', [
    '-euc',
    `${script.trimEnd()} --silent --fail`,
  ])
  const { choices, cost_billed_brl: cost } = JSON.parse(stdout)
  assert.match(choices[0].message.content, /\S/)
  assert.ok(cost > 0)
  assert.equal(Math.round((before - (await balance())) * 1e9), Math.round(cost * 1e9))
})

test('the pages that README names are there', async () => {
  assert.ok(readme.includes(`<${PLAYED_ADDRESS}/>`))
  for (const page of ['/', '/mailbox', '/docs']) {
    assert.ok(readme.includes(page))
    assert.equal((await fetch(`${origin}${page}`, BY_OPERATOR)).status, 200, page)
  }
})
