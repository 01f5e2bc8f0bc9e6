/**
 * Runs test files in this process, one after another, each as a suite with its own hooks: most of the time of a small
 * file goes into loading what the others load too.
 */
import { relative } from 'node:path'
import { beforeEach, suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import { expectMoreFiles } from './end-after-tests.ts'
import { readCpuSeconds } from './read-cpu-seconds.ts'
import { recordFile } from './record-file.ts'

export async function runFilesTogether(root: string, paths: readonly string[]): Promise<void> {
  const endSoon = expectMoreFiles()
  for (const path of paths) {
    const start = readCpuSeconds() ?? 0
    let tests = 0
    // Awaited: `node:test` finds the suite of a test by the asynchronous context, which two imports might share.
    await suite(relative(root, path), async () => {
      beforeEach(() => void tests++)
      await import(pathToFileURL(path).href)
    })
    recordFile({ path, cpuSeconds: (readCpuSeconds() ?? 0) - start, tests })
  }
  endSoon()
}
