/** `.env.example` names every variable that the configuration reads, and no other. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { ConfigError, loadConfig } from './config.ts'
import type { Environment } from './environment-reader.ts'

const text = await readFile(join(import.meta.dirname, '../../../.env.example'), 'utf8')
/** Every line of the form `# NAME=value`, as if it were not a comment. */
const examples: Readonly<Record<string, string | undefined>> = parseEnv(
  text.replaceAll(/^# (?=[A-Z][A-Z0-9_]*=)/gm, ''),
)

/** Variables that rule each other out are in different environments. */
const {
  AWS_BEARER_TOKEN_BEDROCK: _token,
  GOOGLE_VERTEX_API_KEY: _key,
  ARCHIVE_S3_URL: _bucket,
  ...withoutTokens
} = examples
/** Files that must be there; and a variable of the sandbox. */
const {
  SANDBOX_FX_RATE: _rate,
  CATRACA_CONFIG: _file,
  DATABASE_PASSWORD_FILE: _password,
  ARCHIVE_DIR: _archive,
  ...live
} = examples
const environments: readonly Environment[] = [
  {},
  { ...live, CATRACA_MODE: 'live' },
  { ...withoutTokens, CATRACA_MODE: 'sandbox' },
]

function namesReadFrom(environment: Environment): string[] {
  const names: string[] = []
  const recorded = new Proxy(environment, {
    get(target, name) {
      names.push(String(name))
      return target[String(name)]
    },
  })
  try {
    loadConfig(recorded, tmpdir())
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
  }
  return names
}

test('every variable that is read is in the example, and every one there is read', () => {
  const names = environments.flatMap(namesReadFrom)
  // Each variable may also be given as a file.
  const read = new Set(names.filter((name) => !names.some((other) => name === `${other}_FILE`)))
  assert.deepEqual([...read].sort(), Object.keys(examples).sort())
})

test('the examples are a configuration that live mode takes', () => {
  const config = loadConfig({ ...live, CATRACA_MODE: 'live' }, tmpdir())
  assert.equal(config.mode, 'live')
  assert.ok(config.upstreams.length > 10)
  assert.ok(config.asaas && config.mail)
})
