import type { Company } from '../../customers/legal/company.ts'
import type { MailAddress } from './mail-address.ts'

/** The sender of all mails: the operator, who must be named (Decreto 7.962/2013, art. 2). */
export interface MailSender {
  readonly from: MailAddress
  readonly company: Company
  /** The service's public address, without a path; when undefined, mails contain no links to it. */
  readonly publicUrl: string | undefined
  /** Every mail states that it comes from the sandbox. */
  readonly isSandbox: boolean
}

/** A fictitious sender, labelled so. The CNPJ is all zeros, which belongs to nobody. */
export const SANDBOX_SENDER: MailSender = {
  from: { name: 'Catraca (modo de teste)', address: 'sandbox@catraca.example' },
  company: {
    name: 'Empresa Fictícia do Sandbox',
    cnpj: '00000000000000',
    address: 'Endereço fictício, sem número, Brasília, DF',
    contactEmail: 'contato@catraca.example',
  },
  publicUrl: undefined,
  isSandbox: true,
}
