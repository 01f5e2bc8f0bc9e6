import { ensureSealingKey } from '../lib/sealing-key.ts'
import type { WebhookSettings } from '../webhooks/webhook-settings.ts'
import type { Config } from './config.ts'

/** Its sealing key serves every secret that the database keeps; in sandbox mode `DATA_DIR` may hold it. */
export async function resolveWebhookSettings(config: Config): Promise<WebhookSettings> {
  return {
    sealingKey: config.secretsKey ?? (await ensureSealingKey(config.dataDir)),
    previousSealingKey: config.secretsKeyPrevious,
    allowHttp: config.mode === 'sandbox',
    allowPrivate: config.webhooksAllowPrivate,
  }
}
