import { Table, type Column } from '../../components/Table.tsx'
import { wholeNumber } from '../../format/number.ts'
import type { ShieldReport } from './shield-queries.ts'

type KindSums = ShieldReport['by_kind'][number]

const KINDS: Readonly<Record<string, string>> = {
  cpf: 'CPF',
  cnpj: 'CNPJ',
  email: 'E-mail',
  phone: 'Telefone',
  card: 'Cartão',
  pix_key: 'Chave Pix',
}

const COLUMNS: readonly Column<KindSums>[] = [
  { key: 'kind', header: 'Dado', cell: ({ kind }) => KINDS[kind] ?? kind },
  {
    key: 'masked',
    header: 'Mascarados',
    cell: ({ masked }) => wholeNumber(masked),
    isNumeric: true,
  },
  {
    key: 'blocked',
    header: 'Bloqueados',
    cell: ({ blocked }) => wholeNumber(blocked),
    isNumeric: true,
  },
]

/** How many values were found, never the values. */
export function ShieldReportTable({ report }: { readonly report: ShieldReport }) {
  if (report.by_kind.length === 0)
    return <p className="text-sm text-muted">Nada foi encontrado nos últimos 30 dias.</p>
  return (
    <Table
      caption="Dados pessoais encontrados nos últimos 30 dias"
      columns={COLUMNS}
      rows={report.by_kind}
      rowKey={({ kind }) => kind}
    />
  )
}
