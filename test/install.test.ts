/** What `npm ci` prints depends on these files: a fresh clone must install without a warning. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

interface Locked {
  readonly engines?: { readonly node?: string }
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly os?: readonly string[]
}

const root = join(import.meta.dirname, '..')
const read = async (name: string) => JSON.parse(await readFile(join(root, name), 'utf8'))
const { engines, allowScripts } = await read('package.json')
const locked = Object.entries((await read('package-lock.json')).packages as Record<string, Locked>)
  .filter(([path]) => path !== '')
  .map(([path, facts]) => ({ ...facts, name: path.slice(path.lastIndexOf('node_modules/') + 13) }))

/** `22.19` as a number to compare. */
function versionOf(text: string): number {
  const [, major = '0', minor = '0'] = /(\d+)(?:\.(\d+))?/.exec(text) ?? []
  return Number(major) * 1_000 + Number(minor)
}

/** Whether a version is in a range such as `^20.19.0 || >=22.12.0`; patches do not count. */
function isIn(version: number, range: string): boolean {
  return range.split('||').some((line) =>
    (line.match(/[<>=^~]*\s*[\d.*x]+/g) ?? []).every((part) => {
      const bound = versionOf(part)
      if (part.startsWith('>')) return version >= bound
      if (part.startsWith('<')) return version < bound
      return /\d/.test(part)
        ? Math.floor(version / 1_000) === Math.floor(bound / 1_000) && version >= bound
        : true
    }),
  )
}

test('the oldest Node.js of `engines` is new enough for every package', () => {
  const oldest = versionOf(engines.node)
  assert.ok(oldest >= 22_000 && locked.length > 300)
  assert.deepEqual(
    locked.flatMap(({ name, engines: { node = '*' } = {} }) =>
      isIn(oldest, node) ? [] : [`${name} needs ${node}`],
    ),
    [],
  )
})

test('each package with an install script is allowed or denied in package.json', () => {
  const scripted = locked.filter((one) => one.hasInstallScript).map(({ name }) => name)
  assert.ok(scripted.length > 0)
  assert.deepEqual(scripted.toSorted(), Object.keys(allowScripts).toSorted())
})
