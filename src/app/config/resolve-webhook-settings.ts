import { ensureSealingKey } from '../../platform/lib/sealing-key.ts'
import type { ReceiverSettings } from '../../deliveries/receiver.ts'
import type { Config } from './config.ts'

/** Its sealing key seals every secret in the database; in sandbox mode it may be stored in `DATA_DIR`. */
export async function resolveWebhookSettings(config: Config): Promise<ReceiverSettings> {
  return {
    sealingKey: config.secretsKey ?? (await ensureSealingKey(config.dataDir)),
    previousSealingKey: config.secretsKeyPrevious,
    allowHttp: config.mode === 'sandbox',
    allowPrivate: config.webhooksAllowPrivate,
  }
}
