import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError, loadConfig } from './config.ts'
import type { Environment } from './environment-reader.ts'

const folder = mkdtempSync(join(tmpdir(), 'catraca-files-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const KEY = Buffer.alloc(32, 7).toString('base64')

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function faultsOf(environment: Environment): readonly string[] {
  try {
    loadConfig(environment, folder)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.faults
  }
}

test('a secret comes from a file, without the line break at its end', () => {
  write('key', `${KEY}\n`)
  const { secretsKey } = loadConfig({ SECRETS_KEY_FILE: 'key' }, folder)
  assert.deepEqual(secretsKey, Buffer.alloc(32, 7))
})

test('keys of upstreams come from files, also those that the configuration file names', () => {
  const upstreams = [
    { id: 'own', kind: 'openai-compatible', base_url: 'http://127.0.0.1:1/v1', api_key_env: 'OWN' },
  ]
  const config = write('config.json', JSON.stringify({ upstreams }))
  const { upstreams: found } = loadConfig(
    {
      CATRACA_CONFIG: config,
      SANDBOX_REAL_PROVIDERS: 'true',
      OWN_FILE: write('own', 'own-secret\r\n'),
      GROQ_API_KEY_FILE: write('groq', 'groq-secret'),
    },
    folder,
  )
  const keys = found.map(({ id, adapter }) => [id, adapter.options.apiKey])
  assert.deepEqual(keys, [
    ['own', 'own-secret'],
    ['groq', 'groq-secret'],
  ])
})

test('a file that cannot be a value is a fault that names the variable and the path, once', () => {
  const missing = join(folder, 'none')
  const empty = write('empty', '\n')
  const large = write('large', 'x'.repeat(70_000))
  const cases: [Environment, string][] = [
    [{ SECRETS_KEY_FILE: missing }, `SECRETS_KEY_FILE: ${missing} cannot be read (ENOENT)`],
    [{ SMTP_URL_FILE: empty, METRICS_TOKEN_FILE: empty }, `METRICS_TOKEN_FILE: ${empty} is empty`],
    [{ SECRETS_KEY_FILE: large }, `SECRETS_KEY_FILE: ${large} is too large for a setting`],
    [{ SECRETS_KEY_FILE: folder }, `SECRETS_KEY_FILE: ${folder} is no file`],
    [
      { SECRETS_KEY: KEY, SECRETS_KEY_FILE: missing },
      'SECRETS_KEY: is set, and SECRETS_KEY_FILE too; keep one of them',
    ],
  ]
  for (const [environment, fault] of cases) assert.deepEqual(faultsOf(environment), [fault])
})

test('a fault does not quote the content of a file', () => {
  const faults = faultsOf({ SECRETS_KEY_FILE: write('bad', 'not-a-key') })
  assert.equal(faults.length, 1)
  assert.doesNotMatch(faults.join('\n'), /not-a-key/)
})
