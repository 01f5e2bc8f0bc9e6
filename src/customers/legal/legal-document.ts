import type { Company } from './company.ts'

export interface LegalDocument {
  readonly title: string
  readonly sections: readonly Section[]
}

export interface Section {
  readonly title: string
  readonly paragraphs: readonly string[]
}

export type WriteDocument = (company: Company) => LegalDocument
