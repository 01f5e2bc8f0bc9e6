/** `npm run docs:access`: writes the matrix of accesses in test/acceptance/specification.md from the routes of this source tree. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config/config.ts'
import { MATRIX_MARK, renderAccessMatrix } from '../../src/site/docs/access-matrix.ts'
import { listRoutes } from '../../src/app/resources.ts'

const path = join(import.meta.dirname, '../../test/acceptance/specification.md')
const [before = ''] = (await readFile(path, 'utf8')).split(MATRIX_MARK)
const routes = listRoutes(loadConfig({ DATA_DIR: '.' }, '.'))
await writeFile(path, before + renderAccessMatrix(routes))
