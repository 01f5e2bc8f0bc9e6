import { loadConfig } from '../../src/app/config/config.ts'
import { describeApi } from '../../src/site/docs/add-open-api.ts'
import { listRoutes } from '../../src/app/resources.ts'
import type { OpenApiDocument } from './contract-of.ts'

/** The OpenAPI document of a server with the default configuration; no server and no database is started. */
export async function describeRoutes(): Promise<OpenApiDocument> {
  const config = loadConfig({ DATA_DIR: '.' }, '.')
  return (await describeApi(listRoutes(config))) as OpenApiDocument
}
