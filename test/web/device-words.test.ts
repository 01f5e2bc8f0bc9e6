import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceWords } from '../../web/src/pages/security/device-words.ts'

test('a device gets its usual name, whatever its user agent claims', () => {
  const apple = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  for (const [userAgent, words] of [
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${apple} Chrome/131.0 Safari/537.36`,
      'Chrome no Windows',
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0) ${apple} Chrome/131.0 Safari/537.36 Edg/131.0`,
      'Edge no Windows',
    ],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${apple} Version/18.4 Safari/605.1`,
      'Safari no Mac',
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) ${apple} Version/18.4 Mobile/15E Safari/604.1`,
      'Safari no iPhone',
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) ${apple} CriOS/131.0 Mobile Safari/604.1`,
      'Chrome no iPhone',
    ],
    [
      `Mozilla/5.0 (Linux; Android 15) ${apple} SamsungBrowser/27.0 Chrome/125 Mobile Safari/537.36`,
      'Samsung Internet no Android',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0', 'Firefox no Linux'],
    ['Mozilla/5.0 (Linux; Android 15)', 'Navegador no Android'],
    ['curl/8.5', 'Dispositivo desconhecido'],
    [null, 'Dispositivo desconhecido'],
  ] as const)
    assert.equal(deviceWords(userAgent), words)
})
