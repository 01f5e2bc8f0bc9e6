import { Table, type Column } from '../../components/Table.tsx'
import { wholeNumber } from '../../format/number.ts'
import type { ShieldReport } from './shield-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

type KindSums = ShieldReport['by_kind'][number]

const KINDS = perLanguage((): Readonly<Record<string, string>> => ({
  cpf: 'CPF',
  cnpj: 'CNPJ',
  email: 'E-mail',
  phone: t('Telefone'),
  card: t('Cartão'),
  pix_key: t('Chave Pix'),
}))

const COLUMNS = perLanguage((): readonly Column<KindSums>[] => [
  { key: 'kind', header: t('Dado'), cell: ({ kind }) => KINDS()[kind] ?? kind },
  {
    key: 'masked',
    header: t('Mascarados'),
    cell: ({ masked }) => wholeNumber(masked),
    isNumeric: true,
  },
  {
    key: 'blocked',
    header: t('Bloqueados'),
    cell: ({ blocked }) => wholeNumber(blocked),
    isNumeric: true,
  },
])

/** How many values were found, never the values. */
export function ShieldReportTable({ report }: { readonly report: ShieldReport }) {
  if (report.by_kind.length === 0)
    return <p className="text-sm text-muted">{t('Nada foi encontrado nos últimos 30 dias.')}</p>
  return (
    <Table
      caption={t('Dados pessoais encontrados nos últimos 30 dias')}
      columns={COLUMNS()}
      rows={report.by_kind}
      rowKey={({ kind }) => kind}
    />
  )
}
