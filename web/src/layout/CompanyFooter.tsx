/** The company that every page names (Decreto 7.962/2013, art. 2), and its documents. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { legalQuery } from '../api/legal.ts'

const LINK = 'inline-flex min-h-11 items-center underline-offset-4 hover:underline md:min-h-8'

export function CompanyFooter() {
  const { data: legal } = useQuery(legalQuery)
  return (
    <footer className="mx-auto w-full max-w-6xl px-4 py-4 text-sm text-muted md:px-8">
      <p className="flex flex-wrap gap-x-6">
        <a href="/termos" className={LINK}>
          Termos de uso
        </a>
        <a href="/privacidade" className={LINK}>
          Política de privacidade
        </a>
        <Link to="/status" className={LINK}>
          Status
        </Link>
        <a href="/docs" className={LINK}>
          Documentação da API
        </a>
      </p>
      {legal && (
        <p className="mt-1 break-words">
          {legal.company.name}, CNPJ {legal.company.cnpj}. {legal.company.address}.{' '}
          <a href={`mailto:${legal.company.contactEmail}`} className="underline underline-offset-4">
            {legal.company.contactEmail}
          </a>
        </p>
      )}
    </footer>
  )
}
