/** The company that every page names (Decreto 7.962/2013, art. 2), and its documents. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { legalQuery } from '../api/legal.ts'
import { classNames } from '../lib/class-names.ts'
import { t } from '../language/t.ts'
import { Trans } from '../language/Trans.tsx'

const LINK = 'inline-flex min-h-11 items-center underline-offset-4 hover:underline md:min-h-8'

export function CompanyFooter({ isNarrow = false }: { readonly isNarrow?: boolean }) {
  const { data: legal } = useQuery(legalQuery)
  return (
    <footer
      className={classNames(
        'mx-auto w-full px-4 py-4 text-sm text-muted',
        isNarrow ? 'max-w-5xl' : 'max-w-6xl md:px-8',
      )}
    >
      <p className="flex flex-wrap gap-x-6">
        <a href="/termos" className={LINK}>
          {t('Termos de uso')}
        </a>
        <a href="/privacidade" className={LINK}>
          {t('Política de privacidade')}
        </a>
        <Link to="/status" className={LINK}>
          {t('Status')}
        </Link>
        <a href="/docs" className={LINK}>
          {t('Documentação da API')}
        </a>
      </p>
      {legal && (
        <p className="mt-1 break-words">
          <Trans
            id="{name}, CNPJ {cnpj}. {address}. {link}"
            values={{
              name: legal.company.name,
              cnpj: legal.company.cnpj,
              address: legal.company.address,
              link: (
                <a
                  href={`mailto:${legal.company.contactEmail}`}
                  className="underline underline-offset-4"
                >
                  {legal.company.contactEmail}
                </a>
              ),
            }}
          />
        </p>
      )}
    </footer>
  )
}
