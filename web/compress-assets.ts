/**
 * Writes a `.br` and a `.gz` file beside each text file of the build, so that the server never compresses one.
 */
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/** Below this size the headers of the answer weigh more than compression saves. */
const BYTES_MIN = 1024
const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

export function compressAssets(): Plugin {
  let outDir = ''
  return {
    name: 'catraca-compress-assets',
    apply: 'build',
    configResolved({ root, build }) {
      outDir = join(root, build.outDir)
    },
    async closeBundle(error?: Error) {
      if (error) return
      for await (const file of glob('**/*.{js,css,html,svg}', { cwd: outDir })) {
        await compress(join(outDir, file))
      }
    },
  }
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path)
  if (content.length < BYTES_MIN) return
  const [brotli, gzipped] = await Promise.all([
    toBrotli(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
    toGzip(content, { level: 9 }),
  ])
  await writeFile(`${path}.br`, brotli)
  await writeFile(`${path}.gz`, gzipped)
}
