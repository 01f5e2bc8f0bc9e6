import { readFile } from 'node:fs/promises'
import type { PriceData } from '../money/catalog/price-from-data.ts'
import { readPriceFile } from '../money/catalog/read-price-file.ts'
import { priceDataOf, readStoredPriceData } from '../money/catalog/stored-price-data.ts'
import type { Database } from '../platform/db/open.ts'
import type { Config } from './config/config.ts'

/** Thrown when the operator's file of price data cannot be read. */
export class PriceDataFault extends Error {}

/**
 * Returns the price data of the operator's file, read anew each time; without one, the published data that was accepted
 * last, over that of the package. Throws a `PriceDataFault`.
 */
export async function readPriceData(
  db: Database,
  {
    priceDataFile,
    priceDataUrl,
    models,
  }: Pick<Config, 'priceDataFile' | 'priceDataUrl' | 'models'>,
): Promise<PriceData> {
  if (priceDataFile === undefined) {
    const { published, added = [] } = (await readStoredPriceData(db)) ?? {}
    return priceDataOf({ added, ...(priceDataUrl && published && { published }) })
  }
  const file = readPriceFile(await readText(priceDataFile), models)
  if (file.kind === 'price_data') return file.data
  const fault = file.kind === 'faulty' ? file.faults.join('\n') : 'it is no file of price data'
  throw new PriceDataFault(`${priceDataFile}: ${fault}`)
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new PriceDataFault((error as Error).message)
  }
}
