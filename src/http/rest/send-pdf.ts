/** Documents for a customer's accounts, as PDF. */
import type { FastifyReply } from 'fastify'
import type { MailSender } from '../../deliveries/email/mail-sender.ts'
import { writePdf, type PdfLine } from '../../platform/lib/pdf.ts'
import { formatTaxId } from '../../platform/lib/tax-id.ts'

export function sendPdf(
  reply: FastifyReply,
  name: string,
  { title, lines }: { readonly title: string; readonly lines: readonly PdfLine[] },
): FastifyReply {
  return reply
    .type('application/pdf')
    .header('content-disposition', `attachment; filename="${name}.pdf"`)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .send(writePdf(title, [{ text: title, style: 'title' }, ...lines]))
}

/** The end of each document: its notes, and who issued it. */
export function documentLines(
  notes: readonly string[],
  sender: Pick<MailSender, 'company'>,
): PdfLine[] {
  return [notes, senderLines(sender)].flatMap((texts) =>
    texts.map((text, index) => ({ text, style: 'small' as const, isRuled: index === 0 })),
  )
}

export function senderLines({ company }: Pick<MailSender, 'company'>): string[] {
  return [
    `${company.name}, CNPJ ${formatTaxId(company.cnpj)}`,
    company.address,
    `Contato: ${company.contactEmail}`,
  ]
}
