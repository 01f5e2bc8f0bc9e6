import { readTaxId } from '../../platform/lib/tax-id.ts'
import { isMailAddress, readMailAddress } from '../../deliveries/email/mail-address.ts'
import type { MailSender } from '../../deliveries/email/mail-sender.ts'
import { readSmtpUrl, type SmtpServer } from '../../deliveries/email/smtp-url.ts'
import type { Environment } from './environment-reader.ts'

export interface MailConfig {
  readonly smtp: SmtpServer
  readonly sender: Omit<MailSender, 'publicUrl'>
}

/**
 * Returns the sender of mails and the mail server; undefined after a fault. Every field is required: by law, customers
 * must know the company they deal with (Decreto 7.962/2013, art. 2).
 */
export function resolveMail(environment: Environment, faults: string[]): MailConfig | undefined {
  const faultsBefore = faults.length
  const smtp = readSmtpUrl(environment.SMTP_URL ?? '')
  if (!smtp) faults.push('SMTP_URL: must be as smtps://user:password@mail.example.com')
  const from = readMailAddress(environment.MAIL_FROM ?? '')
  if (!from || from.address.endsWith('.example'))
    faults.push('MAIL_FROM: must be an address such as Catraca <avisos@example.com>')
  const { COMPANY_NAME: name, COMPANY_ADDRESS: address, CONTACT_EMAIL: contactEmail } = environment
  if (!name) faults.push('COMPANY_NAME: who customers deal with is needed')
  if (!address) faults.push('COMPANY_ADDRESS: where customers find the company is needed')
  if (!contactEmail || !isMailAddress(contactEmail))
    faults.push('CONTACT_EMAIL: must be an e-mail address')
  const read = readTaxId(environment.COMPANY_CNPJ ?? '')
  const cnpj = read.kind === 'cnpj' ? read.taxId : undefined
  if (!cnpj) faults.push('COMPANY_CNPJ: must be the CNPJ of the company')
  if (faults.length > faultsBefore || !smtp || !from || !name || !address || !contactEmail || !cnpj)
    return undefined
  return {
    smtp,
    sender: { from, company: { name, cnpj, address, contactEmail }, isSandbox: false },
  }
}
