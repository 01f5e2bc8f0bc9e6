import { readFile } from 'node:fs/promises'
import { packagedPriceData, type PriceData } from '../money/catalog/price-from-data.ts'
import { readPriceFile } from '../money/catalog/read-price-file.ts'
import type { Config } from './config/config.ts'

/** Thrown when the operator's file of price data cannot be read. */
export class PriceDataFault extends Error {}

/**
 * Returns the price data of the operator's file, read anew each time; without one, of the package. Throws a
 * `PriceDataFault`.
 */
export async function readPriceData({
  priceDataFile,
  models,
}: Pick<Config, 'priceDataFile' | 'models'>): Promise<PriceData> {
  if (priceDataFile === undefined) return packagedPriceData
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
