/**
 * A virtual environment for the clients in Python, of exactly the packages that a list beside this file pins. It is made
 * once in the user's cache, named by what is in it: another version or another Python is another environment.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Packages of these lists have no files for older ones. */
const PYTHON_MIN = [3, 11] as const
const INSTALL_MS_MAX = 600_000

type Prepared = { readonly python: string } | { readonly skip: string }

const LISTS = ['newest', 'openai-2'] as const
type List = (typeof LISTS)[number]
const VARIABLE = 'CLIENTS_IN_PYTHON'

/** Makes the environments that the tests of this process and its children use; says why there is none. */
export function prepareEnvironments(): void {
  const prepared: Partial<Record<List, Prepared>> = {}
  let last: Prepared | undefined
  for (const list of LISTS) {
    // Without one there is none for the others either.
    last = last && 'skip' in last ? last : prepareEnvironment(list)
    prepared[list] = last
  }
  if (last && 'skip' in last)
    process.stdout.write(`the clients in Python are left out: ${last.skip}\n`)
  process.env[VARIABLE] = JSON.stringify(prepared)
}

export function environmentOf(list: List): Prepared {
  const prepared = JSON.parse(process.env[VARIABLE] ?? '{}') as Partial<Record<List, Prepared>>
  return prepared[list] ?? { skip: 'npm run test:clients prepares its environment' }
}

function prepareEnvironment(list: List): Prepared {
  const { stdout } = spawnSync('python3', ['--version'], { encoding: 'utf8' })
  const [, major, minor] = /^Python (\d+)\.(\d+)/.exec(stdout ?? '') ?? []
  if (major === undefined) return { skip: 'there is no python3' }
  if (Number(major) !== PYTHON_MIN[0] || Number(minor) < PYTHON_MIN[1])
    return { skip: `python3 is older than ${PYTHON_MIN.join('.')}` }

  const file = join(import.meta.dirname, `${list}.txt`)
  const hash = createHash('sha256').update(stdout).update(readFileSync(file)).digest('hex')
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'catraca-clients', `${list}-${hash.slice(0, 16)}`)
  const python = join(folder, 'bin/python')
  const whole = join(folder, 'whole')
  if (existsSync(whole)) return { python }
  rmSync(folder, { recursive: true, force: true })
  const made = spawnSync('python3', ['-m', 'venv', folder], { encoding: 'utf8' })
  if (made.status !== 0) return { skip: 'python3 has no venv' }
  const install = ['-q', '--no-deps', '--no-compile', '--only-binary', ':all:', '-r', file]
  const options = { timeout: INSTALL_MS_MAX, encoding: 'utf8' } as const
  const { status, stderr } = pip(python, install, options)
  if (status !== 0) {
    if (!answers(python)) return { skip: 'no registry of Python packages answers' }
    throw new Error(`${list}.txt could not be installed: ${stderr}`)
  }
  writeFileSync(whole, '')
  return { python }
}

function pip(
  python: string,
  args: readonly string[],
  options: { readonly timeout: number; readonly encoding: 'utf8' },
) {
  return spawnSync(
    python,
    ['-m', 'pip', 'install', '--disable-pip-version-check', ...args],
    options,
  )
}

/** Whether any package can be had: a list that cannot be installed all the same is wrong. */
function answers(python: string): boolean {
  const args = ['-q', '--dry-run', '--no-deps', '--ignore-installed', '--retries', '0', 'six']
  return pip(python, args, { timeout: 60_000, encoding: 'utf8' }).status === 0
}
