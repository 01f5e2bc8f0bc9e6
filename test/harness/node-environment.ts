import { addressesBeside } from './addresses-beside.ts'
import { OPERATOR_TOKEN } from './ask.ts'

/** The settings of a test's server: no limit of requests that a test would meet by chance, and a short drain. */
export function nodeEnvironment(options: {
  databaseUrl: string
  dataDir: string
  port: number
  env?: Record<string, string>
}): Record<string, string> {
  return {
    CATRACA_CONFIG: '',
    DATABASE_URL: options.databaseUrl,
    ...addressesBeside(options.databaseUrl),
    DATA_DIR: options.dataDir,
    HOST: '127.0.0.1',
    PORT: String(options.port),
    WORKERS: '1',
    RATE_LIMIT_PER_IP: '100000000',
    REST_RATE_LIMIT_PER_KEY: '100000000',
    REST_RATE_LIMIT_PER_IP: '100000000',
    DRAIN_SECONDS: '10',
    LOG_LEVEL: 'info',
    METRICS_TOKEN: OPERATOR_TOKEN,
    ...options.env,
  }
}
