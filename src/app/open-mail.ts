import type { Database } from '../platform/db/open.ts'
import { SANDBOX_SENDER, type MailSender } from '../deliveries/email/mail-sender.ts'
import type { Mailer } from '../deliveries/email/mailer.ts'
import { createSandboxMailer } from '../deliveries/email/sandbox-mailbox.ts'
import type { SmtpServer } from '../deliveries/email/smtp-url.ts'
import {
  createUnsubscribeLinks,
  type UnsubscribeLinks,
} from '../deliveries/email/unsubscribe-links.ts'
import type { ReceiverSettings } from '../deliveries/receiver.ts'
import type { Config } from './config/config.ts'
import type { Closable } from './create-closing.ts'

export interface OpenMail extends Closable {
  readonly mailer: Mailer
  readonly sender: MailSender
  readonly unsubscribe: UnsubscribeLinks
}

/** Sends mails by SMTP in live mode, and to the mailbox page in sandbox mode. */
export async function openMail(
  db: Database,
  { mail, publicUrl }: Pick<Config, 'mail' | 'publicUrl'>,
  { sealingKey, previousSealingKey }: ReceiverSettings,
): Promise<OpenMail> {
  const mailer = mail ? await openSmtpMailer(mail.smtp) : createSandboxMailer(db)
  return {
    mailer,
    sender: { ...(mail?.sender ?? SANDBOX_SENDER), publicUrl },
    unsubscribe: createUnsubscribeLinks({ sealingKey, previousSealingKey, publicUrl }),
    close: () => mailer.close(),
  }
}

/** Loaded only if needed: the package takes a tenth of the start-up time. */
async function openSmtpMailer(smtp: SmtpServer): Promise<Mailer> {
  const { createSmtpMailer } = await import('../deliveries/email/create-smtp-mailer.ts')
  return createSmtpMailer(smtp)
}
