# hutch as a nix package: `nix run github:OWNER/hutch -- bash`, `nix profile install .`,
# `nix develop` for working on it.
#
# On Ubuntu 24.04 and later a hutch in /nix/store may make no user namespaces: the
# AppArmor profile in share/apparmor names root-owned paths only. There, copy
# result/bin/hutch to /usr/local/bin as root; it is one static file.
{
  description = "Run AI coding agents, and any other command, in a sandbox on Linux";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      forEachSystem = make: nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ]
        (system: make nixpkgs.legacyPackages.${system});

      # meson.build is the one place that knows the version.
      version = builtins.head (builtins.match
        ".*project\\('hutch', 'c',[[:space:]]*version: '([^']+)'.*"
        (builtins.readFile ./meson.build));

      package =
        { lib, stdenv, buildPackages, meson, ninja, pkg-config, scdoc, python3
        , libfyaml, jansson, libseccomp }:
        stdenv.mkDerivation {
          pname = "hutch";
          inherit version;
          src = self;

          strictDeps = true;
          # The generators of the build run on the machine that builds.
          depsBuildBuild = [ buildPackages.stdenv.cc ];
          nativeBuildInputs = [ meson ninja pkg-config scdoc python3 ];
          buildInputs = [ libfyaml jansson libseccomp ];

          # Warnings differ between C libraries; they are errors in our own builds only.
          mesonFlags = [ "-Dwerror=false" ];

          # The tests make sandboxes, which the sandbox of nix does not allow.
          doCheck = false;

          meta = {
            description = "Run AI coding agents, and any other command, in a sandbox on Linux";
            license = lib.licenses.mit;
            platforms = lib.platforms.linux;
            mainProgram = "hutch";
          };
        };
    in
    {
      packages = forEachSystem (pkgs: rec {
        # pkgsStatic, because hutch is one static image and the libraries of the
        # ordinary package set come as shared objects only.
        hutch = pkgs.pkgsStatic.callPackage package { };
        default = hutch;
      });

      apps = forEachSystem (pkgs: {
        default = {
          type = "app";
          program = "${self.packages.${pkgs.stdenv.hostPlatform.system}.hutch}/bin/hutch";
        };
      });

      # The environment of the package itself, plus what `make check` compares with or
      # runs through a sandbox.
      devShells = forEachSystem (pkgs: {
        default = self.packages.${pkgs.stdenv.hostPlatform.system}.hutch.overrideAttrs (old: {
          nativeBuildInputs = old.nativeBuildInputs ++ (with pkgs; [
            bubblewrap clang clang-tools direnv gdb git jq nodejs shellcheck strace
          ]);
        });
      });
    };
}
