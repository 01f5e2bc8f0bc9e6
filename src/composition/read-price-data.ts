import { readFile } from 'node:fs/promises'
import { packagedPriceData, type PriceData } from '../catalog/price-from-data.ts'
import { readPriceFile } from '../catalog/read-price-file.ts'
import type { Config } from './config.ts'

/** The price data of the operator's file, read anew each time; without one, of the package. Throws for a faulty file. */
export async function readPriceData({
  priceDataFile,
  models,
}: Pick<Config, 'priceDataFile' | 'models'>): Promise<PriceData> {
  if (priceDataFile === undefined) return packagedPriceData
  const file = readPriceFile(await readFile(priceDataFile, 'utf8'), models)
  if (file.kind === 'price_data') return file.data
  const fault = file.kind === 'faulty' ? file.faults.join('\n') : 'it is no file of price data'
  throw new Error(`${priceDataFile}: ${fault}`)
}
