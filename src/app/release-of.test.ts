import assert from 'node:assert/strict'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { findCommit } from './release-of.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const OTHER = 'f'.repeat(40)

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-checkout-'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

test('the commit of a branch is found, loose or packed, and that of a detached head', async () => {
  const branch = { '.git/HEAD': 'ref: refs/heads/main\n' }
  const packed = `# pack-refs with: peeled\n${OTHER} refs/heads/main-2\n${COMMIT} refs/heads/main\n`
  for (const files of [
    { ...branch, '.git/refs/heads/main': `${COMMIT}\n` },
    { ...branch, '.git/packed-refs': packed },
    { '.git/HEAD': `${COMMIT}\n` },
  ])
    assert.equal(findCommit(await folderWith(files)), COMMIT.slice(0, 12))
})

test('the commit of a work tree is found in the folder of its repository', async () => {
  const files = {
    '.git': 'gitdir: repository/worktrees/one\n',
    'repository/worktrees/one/HEAD': 'ref: refs/heads/topic\n',
    'repository/worktrees/one/commondir': '../..\n',
    'repository/refs/heads/topic': `${COMMIT}\n`,
  }
  assert.equal(findCommit(await folderWith(files)), COMMIT.slice(0, 12))
})

test('without a checkout, or with a branch that has no commit yet, there is none', async () => {
  for (const files of [{}, { '.git/HEAD': 'ref: refs/heads/main\n' }, { '.git/HEAD': 'nothing' }])
    assert.equal(findCommit(await folderWith(files)), undefined)
})
