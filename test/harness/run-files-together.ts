/**
 * Runs test files in this process, one after another, each as a suite with its own hooks: most of the time of a small
 * file goes into loading what the others load too. Only for files without top-level `await`, which `require` refuses.
 */
import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { after, before, beforeEach, suite } from 'node:test'
import { readCpuSeconds } from './read-cpu-seconds.ts'
import { recordFile } from './record-file.ts'

const require = createRequire(import.meta.url)

export function runFilesTogether(root: string, paths: readonly string[]): void {
  for (const path of paths) {
    void suite(relative(root, path), () => {
      const spent = startClock()
      let loading = 0
      let tests = 0
      let untilTests = (): number => 0
      before(() => (untilTests = startClock()))
      beforeEach(() => void tests++)
      // Not `import()`: `node:test` finds the suite by the asynchronous context, which it would lose.
      require(path)
      loading = spent()
      after(() => recordFile({ path, cpuSeconds: loading + untilTests(), tests }))
    })
  }
}

function startClock(): () => number {
  const start = readCpuSeconds() ?? 0
  return () => (readCpuSeconds() ?? 0) - start
}
