/** A worker in a separate process, to be killed: `delivering-process.ts <database url> <sealing key>`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/platform/db/open.ts'
import { createDelivery } from '../harness/webhook-receiver.ts'

const [databaseUrl = '', key = ''] = process.argv.slice(2)
const { db } = openDatabase(databaseUrl, { onError: () => {} })
const settings = { sealingKey: Buffer.from(key, 'base64'), allowHttp: true, allowPrivate: true }
const delivery = createDelivery(db, { settings })
for (;;) {
  await delivery.startDue()
  await sleep(20)
}
